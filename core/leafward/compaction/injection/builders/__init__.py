"""The builders of the injected context: each makes the bullets of its sections from the findings and from files of the project."""
