/* Where something stands in a file. */
#pragma once

/* Line and column (of characters) are counted from 1; 0 when not known. */
struct place {
	int line;
	int column;
};
