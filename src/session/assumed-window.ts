/**
 * What is reckoned with where nobody knows how much the window of a model holds: most hold at least this, and
 * to reckon with too little does no harm. It is never shown to anybody as the size of a window.
 */
export const assumedWindow = 200_000;
