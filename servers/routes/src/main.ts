/** Not written yet. */

export {}
