import { accessSync, constants } from 'node:fs'
import { join } from 'node:path'

/** The programs that make the isolation layers: of util-linux, but for `chroot`, `mkdir` and `nice`. */
export const toolNames = ['unshare', 'setpriv', 'mount', 'chroot', 'mkdir', 'nice'] as const

export type Tools = Partial<Record<(typeof toolNames)[number], string>>

/** Only the administrator's: the PATH of this process may be anybody's, or lack folders for the administrator. */
const folders = ['/usr/sbin', '/usr/bin', '/sbin', '/bin', '/run/current-system/sw/bin']

/** Where the programs are. */
export function findTools(): Tools {
  const tools: Tools = {}
  for (const name of toolNames) {
    const file = folders.map((folder) => join(folder, name)).find(isProgram)
    if (file !== undefined) tools[name] = file
  }
  return tools
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}
