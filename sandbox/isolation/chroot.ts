import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { findAddon } from './addon.ts'
import type { Tools } from './tools.ts'

/**
 * Mount point of the new root: any folder that every Linux has and that the process does not need. The mount is visible
 * only in the mount namespace of the process.
 */
const mountPoint = '/sys'

/** The files that a sandbox process needs to start: programs, addon and the libraries that they load. */
export function filesOfRoot(programs: string[]): string[] {
  const cache = ['/etc/ld.so.cache'].filter((file) => existsSync(file))
  return [...new Set([...programs, findAddon(), ...programs.flatMap(librariesOf), ...cache])]
}

/** Lists the libraries that the dynamic loader would load for a program, as the loader itself reports them. */
function librariesOf(program: string): string[] {
  const listing = execFileSync(program, {
    encoding: 'utf8',
    env: { LD_TRACE_LOADED_OBJECTS: '1' },
    stdio: 'pipe',
    timeout: 5000,
  })
  return Array.from(listing.matchAll(/(?:^|\s)(\/.*?)(?= \(0x)/gm), ([, path]) => path!)
}

/**
 * A shell script that makes a root of these files, read-only and at their original paths, with a `/proc` of the
 * process's own namespace, and executes its arguments there. Requires a mount namespace and a process namespace.
 */
export function chrootScript(files: string[], tools: Tools): string {
  const [mount, mkdir, chroot] = [tools.mount!, tools.mkdir!, tools.chroot!].map(quote) as [string, string, string]
  const folders = new Set(files.map((file) => `.${dirname(file)}`))
  const binds = files.map((file) => `${inTable(file)} ${inTable(mountPoint + file)} none bind,ro,nosuid,nodev 0 0`)
  const mounts = [...binds, `none ${mountPoint}/proc proc nosuid,nodev,noexec 0 0`]
  return [
    'set -e',
    `${mount} -t tmpfs -o mode=755,size=64k,nosuid,nodev,noexec none ${mountPoint}`,
    `cd ${mountPoint}`,
    `${mkdir} -p ./proc ./dev ${Array.from(folders, quote).join(' ')}`,
    // Node keeps a descriptor of `/dev/null` in reserve; without that file, it keeps one of the root folder.
    ': > ./dev/null',
    ...files.map((file) => `: > ${quote(`.${file}`)}`),
    `printf "%s\\n" ${quote(mounts.join('\n'))} > ./mounts`,
    `${mount} -a -T ./mounts`,
    ': > ./mounts',
    `${mount} -o remount,bind,ro ${mountPoint}`,
    // From here on, no file can grow, not even one that exists only in memory.
    'ulimit -f 0',
    `exec ${chroot} . "$@"`,
  ].join('\n')
}

function quote(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`
}

/** A path in the format of a table of mounts. */
function inTable(path: string): string {
  return path.replace(/[\s\\#]/g, (character) => `\\${character.charCodeAt(0).toString(8).padStart(3, '0')}`)
}
