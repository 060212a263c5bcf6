import type { Config } from '#shared/config/config.ts'
import { isolationLayers, layerDescriptions as descriptions } from '#sandbox/isolation/names.ts'
import { MissingIsolationError, detectIsolation } from '#sandbox/isolation/detect-isolation.ts'
import { wordsOf } from '#shared/connectivity/connect-errors.ts'
import { findingsOf, type Finding } from './finding.ts'

const { ok, warn, fail } = findingsOf('Sandbox')

/** Detects by trial which isolation layers confine the sandbox processes on this machine. */
export async function checkSandbox({ sandbox: { profile, require } }: Config): Promise<Finding[]> {
  try {
    const { holds } = await detectIsolation({ profile, require: [], log() {} })
    const held = isolationLayers.filter((name) => holds.has(name))
    const missing = isolationLayers.filter((name) => !holds.has(name))
    return [
      ok(`These isolation layers are active: ${held.join(', ')}`),
      ...(profile === 'jit' ? [warn('SANDBOX_PROFILE is jit', 'unset it unless all authors of bots are trusted')] : []),
      ...missing.map((name) => {
        const { meaning, remedy } = descriptions[name]
        const message = `The isolation layer "${name}" is unavailable here (${meaning})`
        if (require.includes(name)) return fail(`${message}, and SANDBOX_REQUIRE names it`, remedy)
        return warn(message, remedy)
      }),
    ]
  } catch (error) {
    const remedy =
      error instanceof MissingIsolationError ? 'see SANDBOX_REQUIRE' : 'run npm ci again, with the Node of this machine'
    return [fail(`Bots cannot run here: ${wordsOf(error)}`, remedy)]
  }
}
