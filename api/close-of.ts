import type { Response } from 'express'

/** A signal that is aborted when the connection ends before the answer. */
export function closeOf(response: Response): AbortSignal {
  const controller = new AbortController()
  const abort = () => {
    if (!response.writableFinished) controller.abort()
  }
  if (response.closed) abort()
  else response.once('close', abort)
  return controller.signal
}
