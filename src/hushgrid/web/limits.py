"""How much one client may ask for at once."""

LARGEST_BODY = 1_000_000  # bytes: room for a full batch at full precision
LARGEST_BATCH = 10_000  # rectangles
LARGEST_PAGE = 10_000  # cells
USUAL_PAGE = 1_000  # cells, where nobody says how many
LONGEST_QUERY = 8_000  # characters of an address behind the question mark
LOWEST_CONFIDENCE, HIGHEST_CONFIDENCE = 0.01, 0.9999
MOST_CONNECTIONS = 1_000
