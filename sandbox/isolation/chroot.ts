import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { findAddon } from '../host/addon.ts'
import type { Tools } from './tools.ts'

/**
 * Where the new root is mounted: any folder will do that every Linux has and that holds nothing which is needed. Nobody
 * else sees it there, because the mount namespace is the process's own.
 */
const mountPoint = '/sys'

/** The files that a sandbox process needs to start: programs, addon and the libraries that they load. */
export function filesOfRoot(programs: string[]): string[] {
  const cache = ['/etc/ld.so.cache'].filter((file) => existsSync(file))
  return [...new Set([...programs, findAddon(), ...programs.flatMap(librariesOf), ...cache])]
}

/** What the dynamic loader would load for a program, as the loader itself says when it is asked so. */
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
 * A shell script that makes a root of these files, read-only and at the paths they have, with a `/proc` that shows the
 * process itself, and goes on with its arguments in there. It needs a mount and a process namespace.
 */
export function chrootScript(files: string[], tools: Tools): string {
  const [mount, mkdir, chroot] = [tools.mount!, tools.mkdir!, tools.chroot!].map(quote) as [string, string, string]
  const folders = new Set(files.map((file) => `.${dirname(file)}`))
  const binds = files.map((file) => `${inTable(file)} ${inTable(mountPoint + file)} none bind,ro,nosuid,nodev 0 0`)
  return [
    'set -e',
    `${mount} -t tmpfs -o mode=755,size=64k,nosuid,nodev,noexec none ${mountPoint}`,
    `cd ${mountPoint}`,
    `${mkdir} -p ./proc ./dev ${Array.from(folders, quote).join(' ')}`,
    // Node holds a descriptor of it in reserve, and one of the root folder where there is none.
    ': > ./dev/null',
    ...files.map((file) => `: > ${quote(`.${file}`)}`),
    `printf "%s\\n" ${quote(binds.join('\n'))} > ./mounts`,
    `${mount} -a -T ./mounts`,
    ': > ./mounts',
    `${mount} -t proc -o nosuid,nodev,noexec none ./proc`,
    `${mount} -o remount,bind,ro ${mountPoint}`,
    // No file can be made longer than this any more, not even one that exists only in memory.
    'ulimit -f 0',
    `exec ${chroot} . "$@"`,
  ].join('\n')
}

function quote(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`
}

/** A path as a table of mounts wants it. */
function inTable(path: string): string {
  return path.replace(/[\s\\#]/g, (character) => `\\${character.charCodeAt(0).toString(8).padStart(3, '0')}`)
}
