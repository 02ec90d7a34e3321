"""The timeline as a person moves it: its window, its selection, its view in the browser."""
