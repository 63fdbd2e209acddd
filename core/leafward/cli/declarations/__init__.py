"""The verbs as `--help` shows them: arguments, options, examples. Each is declared once; what it does is loaded when it runs."""
