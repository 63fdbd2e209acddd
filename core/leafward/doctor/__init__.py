"""What is wrong with sessions, and with what Leafward keeps beside them: found and told, and litter removed.

`checkup` checks everything. `session_problems` checks one session, with `references` between its entries; `store_problems`
looks at what lies beside sessions, `litter` at what a killed Leafward left. All are values of `problem`.
"""
