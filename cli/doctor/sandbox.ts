import type { Config } from '#shared/config/config.ts'
import { isolationLayers, layerDescriptions as descriptions } from '#sandbox/isolation/names.ts'
import { MissingIsolationError, detectIsolation } from '#sandbox/isolation/detect-isolation.ts'
import { findingsOf, wordsOf, type Finding } from './finding.ts'

const { ok, warn, fail } = findingsOf('Sandbox')

/** Finds out by trying which walls stand around the processes that run bots on this machine. */
export async function checkSandbox({ sandbox: { profile, require } }: Config): Promise<Finding[]> {
  try {
    const { holds } = await detectIsolation({ profile, require: [], log() {} })
    const held = isolationLayers.filter((name) => holds.has(name))
    const missing = isolationLayers.filter((name) => !holds.has(name))
    return [
      ok(`These walls hold around bots: ${held.join(', ')}`),
      ...(profile === 'jit' ? [warn('SANDBOX_PROFILE is jit', 'unset it unless all authors of bots are trusted')] : []),
      ...missing.map((name) => {
        const { meaning, remedy } = descriptions[name]
        const message = `The wall "${name}" does not hold here (${meaning})`
        if (require.includes(name)) return fail(`${message}, and SANDBOX_REQUIRE asks for it`, remedy)
        return warn(message, remedy)
      }),
    ]
  } catch (error) {
    const remedy =
      error instanceof MissingIsolationError ? 'see SANDBOX_REQUIRE' : 'run npm ci again, with the Node of this machine'
    return [fail(`No bot can run here: ${wordsOf(error)}`, remedy)]
  }
}
