import { accessSync, constants } from 'node:fs'
import { join } from 'node:path'

/** The programs that make the isolation layers: part of util-linux, except for `chroot`, `mkdir` and `nice`. */
export const toolNames = ['unshare', 'setpriv', 'mount', 'chroot', 'mkdir', 'nice'] as const

export type Tools = Partial<Record<(typeof toolNames)[number], string>>

/**
 * Only folders of the administrator's: the PATH of this process may contain other users' folders, or lack the
 * administrator's.
 */
const folders = ['/usr/sbin', '/usr/bin', '/sbin', '/bin', '/run/current-system/sw/bin']

/** Finds the paths of the programs. */
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
