"""How much one client may ask for at once, and how long it may take."""

LARGEST_BODY = 1_000_000  # bytes: room for a full batch at full precision
LARGEST_BATCH = 10_000  # rectangles
LARGEST_PAGE = 10_000  # cells
USUAL_PAGE = 1_000  # cells, where nobody says how many
LONGEST_QUERY = 8_000  # characters of an address behind the question mark
LOWEST_CONFIDENCE, HIGHEST_CONFIDENCE = 0.01, 0.9999
MOST_CONNECTIONS = 1_000
MOST_OF_ONE_CLIENT = 300  # connections: plenty for a proxy, through which everyone seems to be one client
IDLE_SECONDS = 5  # between an answer and the next request on the same connection
HEAD_SECONDS = 10  # for the head of a request, from the start of the connection or the last answer
BODY_SECONDS = 30  # for the body after it
READER_SECONDS = 60  # in which a client has to read some of its answer
SENT_AHEAD = 131_072  # bytes that the system takes before a client has read: with more, slow readers seem not to read
