"""The report: runs in one HTML file that opens anywhere, from the same queries, figures and sentences as the app."""
