"""Cards of sessions: what the list shows of each.

`card` is the value, `card_fields` reads its fields. A file is looked at briefly (`quick_card`), read whole (`full_card`; many
in `reading_processes`), or from where it has grown (`grown_card`). `replies` and `daily_usage` count its tokens and
costs, `shared_replies` those of one large file in several processes.
"""
