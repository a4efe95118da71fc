"""Tables of tuning experiments that somebody else made, as in papers: what they say, and what their design can't.

Pure: arms in, effects and sentences out.

arms       the table: settings, configurations, measurements
effects    what each setting does, alone and with others, and what two do together
limits     what such a design can't tell, in sentences
"""
