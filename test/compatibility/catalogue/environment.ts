import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Connection } from '../../../cli/connection.ts'
import type { Project } from './prepare-projects.ts'
import { sampleOf, type Schema } from './sample.ts'

/**
 * Writes the module that the tool `genenv` of the repository would make of the environment, with values of no account. A
 * value that a bot gives a field of an integration's configuration follows the schema of that field.
 *
 * @param api where the integrations are deployed that the project depends on
 */
export async function writeEnvironment({ folder }: Project, api: Connection): Promise<void> {
  const { scripts = {}, bpDependencies = {} } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as {
    scripts?: Record<string, string>
    bpDependencies?: Record<string, string>
  }
  const names = Array.from((scripts['postinstall'] ?? '').matchAll(/-e (\w+)/g), ([, name]) => name!)
  if (names.length === 0) return
  const definition = await readFile(join(folder, 'bot.definition.ts'), 'utf8').catch(() => '')
  const fields = new Map(Array.from(definition.matchAll(/(\w+): genenv\.(\w+)/g), ([, field, name]) => [name!, field!]))
  const schemas = fields.size > 0 ? await fieldsOf(api, Object.keys(bpDependencies)) : new Map<string, Schema>()
  const lines = names.map((name) => {
    const value = sampleOf(schemas.get(fields.get(name) ?? '') ?? {})
    return `export const ${name} = ${JSON.stringify(value)}\n`
  })
  await mkdir(join(folder, '.genenv'), { recursive: true })
  await writeFile(join(folder, '.genenv', 'index.ts'), lines.join(''))
}

/** The schemas of the fields of all configurations of integrations, by the fields' names. */
async function fieldsOf(api: Connection, dependencies: string[]): Promise<Map<string, Schema>> {
  const fields = new Map<string, Schema>()
  const { integrations } = await api.ask<'listIntegrations'>('GET', '/v1/admin/integrations', {
    query: { pageSize: 100 },
  })
  for (const { id } of integrations.filter(({ name }) => dependencies.includes(name))) {
    const { integration } = await api.ask<'getIntegration'>('GET', `/v1/admin/integrations/${id}`)
    for (const configuration of [integration.configuration, ...Object.values(integration.configurations)]) {
      const { properties = {} } = (configuration?.schema ?? {}) as Schema
      for (const [field, each] of Object.entries(properties)) fields.set(field, each)
    }
  }
  return fields
}
