"""The SQL views, one folder a concept and one file a view, and the catalog that loads them."""
