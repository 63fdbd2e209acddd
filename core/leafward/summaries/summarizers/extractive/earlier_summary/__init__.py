"""An earlier summary in the next one."""
