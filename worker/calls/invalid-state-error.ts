/** The state that a run left cannot be stored. */
export class InvalidStateError extends Error {
  override name = 'InvalidStateError'
}
