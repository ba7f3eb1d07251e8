/* A position in a file. */
#pragma once

/* Line and column (in characters) count from 1; 0: unknown. */
struct place {
	int line;
	int column;
};
