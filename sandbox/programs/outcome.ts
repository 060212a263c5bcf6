import type { Ended } from './run-program.ts'

/** Whether the program ended as it should, so that its output is complete. */
export function isWhole({ code, stopped }: Ended): boolean {
  return code === 0 && stopped === undefined
}

/**
 * Whether the limit of processor time ended the program: by the signal for it, or, where the program ignores that
 * signal, by a kill close to the limit. Time that passes tells less: threads that work at once use more processor time.
 */
export function isOverCpu({ exceededCpu, wasKilled, milliseconds }: Ended, { seconds }: { seconds: number }): boolean {
  return exceededCpu || (wasKilled && milliseconds > seconds * 900)
}

/**
 * Whether the program itself never ran: it was not found, may not be executed, or a tool that builds its isolation failed.
 * None of that is the fault of the upload.
 */
export function hasNotStarted({ code, wasKilled, exceededCpu, stopped, complaint }: Ended): boolean {
  if (stopped !== undefined || wasKilled || exceededCpu || code === 0) return false
  return (
    code === null ||
    code === 126 ||
    code === 127 ||
    /^(?:\S*\/)?(?:sh|unshare|mount|nice|setpriv|chroot): /.test(complaint)
  )
}
