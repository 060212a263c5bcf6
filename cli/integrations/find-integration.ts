import type { AnswerOf } from '#shared/openapi/answer-of.ts'
import type { Connection } from '../connection.ts'
import { failed, Failure } from '../failure.ts'

type OwnIntegration = AnswerOf<'getIntegration'>['integration']
export type FoundIntegration = AnswerOf<'getPublicIntegration'>['integration'] & Pick<OwnIntegration, 'secrets'>

/**
 * Finds a version of an integration: one of the workspace, or else a public one.
 *
 * @param given an id, a name for its newest version, or `name@version`, where the version may be a range
 * @throws Failure when there is none
 */
export async function findIntegration({ ask }: Connection, given: string): Promise<FoundIntegration> {
  const tried = pathsOf(given)
  for (const path of tried) {
    const found = await ask<'getIntegration'>('GET', path).catch((error: unknown) => {
      if (error instanceof Failure && error.type === 'ResourceNotFound') return undefined
      throw error
    })
    // A public one shows no secrets.
    if (found) return { ...found.integration, secrets: found.integration.secrets ?? [] } as FoundIntegration
  }
  throw failed(
    `There is no integration "${given}", neither in the workspace nor public: \`isobot integrations list\` and ` +
      '`isobot hub list` show them',
    { type: 'ResourceNotFound' },
  )
}

/** The addresses of an integration in the workspace and among the public ones. */
function pathsOf(given: string): string[] {
  const own = '/v1/admin/integrations'
  const hub = '/v1/admin/hub/integrations'
  if (/^intver_\w+$/.test(given)) return [own, hub].map((path) => `${path}/${given}`)
  // Names of publishers begin with their handle: `acme/crm`.
  const [, name = given, version = 'latest'] = /^(.+?)@(.+)$/.exec(given) ?? []
  return [own, hub].map((path) => `${path}/${encodeURIComponent(name)}/${encodeURIComponent(version)}`)
}
