TILE = 64  # rows and columns of one tile
