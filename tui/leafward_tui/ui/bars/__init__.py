"""The one-line widgets: title, filter, price, keys."""
