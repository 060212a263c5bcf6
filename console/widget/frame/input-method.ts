/** The code of a key that belongs to an input method. */
const processKey = 229

/**
 * Whether a key press belongs to an input method, such as one for Japanese: it takes or leaves the words that are being
 * composed, and is none of the page's. Safari reports the last one after the end of the composition, by its code alone.
 */
export function isOfInputMethod({ isComposing, keyCode }: KeyboardEvent): boolean {
  return isComposing || keyCode === processKey
}
