import { openCompiler } from '#sandbox/compiler/open-compiler.ts'
import type { Compilation, Compiled, Compiler, Upload } from '#sandbox/compiler/contract.ts'
import type { SandboxLog } from '#sandbox/protocol/contract.ts'
import { bundlePrograms } from '#sandbox/host/programs.ts'
import { detectIsolation, type Isolation } from '#sandbox/isolation/detect-isolation.ts'

let opened: Promise<Compiler> | undefined

/** The compiler of a worker, without a worker. It keeps no handle open while idle. */
export function compilerHere(): Promise<Compiler> {
  return (opened ??= openCompilerOf((own) => own))
}

/** @param words the command of each program, in place of the compiler's own */
export async function openCompilerOf(
  words: (own: string[]) => string[],
  log: SandboxLog = () => {},
): Promise<Compiler> {
  const isolation = await detectIsolation({ profile: 'hardened', require: [], log() {} })
  const { reader } = await bundlePrograms()
  const command: Isolation['command'] = (dataKilobytes, program) =>
    isolation.command(dataKilobytes, program && { ...program, words: words(program.words) })
  return openCompiler({ isolation: { ...isolation, command }, reader, log })
}

export async function tryToCompile(source: string, sourceMap?: string, owner = 'test'): Promise<Compilation> {
  const upload: Upload = { source, sourceMap }
  return (await compilerHere()).compile(owner, async () => upload)
}

export async function compile(source: string, sourceMap?: string): Promise<Compiled> {
  const compiled = await tryToCompile(source, sourceMap)
  if (compiled.status !== 'compiled') throw new Error(compiled.problem)
  return compiled
}
