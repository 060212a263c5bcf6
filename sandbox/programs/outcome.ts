import type { Ended } from './run-program.ts'

/** Whether the program ended as it should, so that its output is complete. */
export function isWhole({ code, stopped }: Ended): boolean {
  return code === 0 && stopped === undefined
}

/** Whether the process ended close to its limit of processor time, so that the kernel's limit ended it. */
export function isOverCpu({ milliseconds }: Ended, { seconds }: { seconds: number }): boolean {
  return milliseconds > seconds * 900
}

/**
 * Whether the program itself never ran: it was not found, may not be executed, or a tool that builds its isolation failed.
 * None of that is the fault of the upload.
 */
export function hasNotStarted({ code, wasKilled, stopped, complaint }: Ended): boolean {
  if (stopped !== undefined || wasKilled || code === 0) return false
  return (
    code === null ||
    code === 126 ||
    code === 127 ||
    /^(?:\S*\/)?(?:sh|unshare|mount|nice|setpriv|chroot): /.test(complaint)
  )
}
