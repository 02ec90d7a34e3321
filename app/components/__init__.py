"""Parts that pages are made of. Only they use Streamlit's session state and the page's address; they return values."""
