import { join, normalize } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { AnswerOf } from '#shared/openapi/answer-of.ts'
import { mergePatch } from '#shared/code/merge-patch.ts'
import {
  completeChannel,
  integrationDefinition,
  integrationDefinitionSchema,
  integrationName,
  toIntegration,
  undeclaredAction,
} from '#shared/models/integration.ts'
import { isRecord } from '#shared/models/payload.ts'
import { closedObject, compile, describeErrors, type Infer } from '#shared/schema.ts'
import type { Connection } from '../connection.ts'
import { Failure } from '../failure.ts'
import { parseJson } from '../parse-json.ts'
import { openCodeBundler, type BundledCode } from './bundle-code.ts'
import type { Problem } from './code-frame.ts'
import type { Project } from './project.ts'
import { readIfPresent } from '../read-if-present.ts'

/** The definition of an integration, in its folder. */
const integrationFile = 'integration.json'

const { dev: _dev, ...definition } = integrationDefinition

/** The content of `integration.json`. */
const integrationSettings = closedObject(integrationName, { $schema: { type: 'string' }, ...definition })

type IntegrationSettings = Infer<typeof integrationSettings>

const isSettings = compile(integrationSettings, 'closedBody')

/** An integration of a project: its definition and its code. */
export interface BundledIntegration extends BundledCode {
  definition: IntegrationSettings
}

export interface IntegrationBundler extends AsyncDisposable {
  /** @returns the integration, or the problems of its source */
  bundle(): Promise<BundledIntegration | { problems: Problem[] }>
}

/** Whether isobot.json names an integration by its folder in the project, `./integrations/crm`. */
export function isOwnIntegration(named: string): boolean {
  return /^\.\.?\//.test(named)
}

/**
 * Bundles an integration of a project: the module `index.ts` of its folder, defined by `integration.json` beside it.
 *
 * @param path the integration's folder, relative to that of the project
 */
export async function openIntegrationBundler(
  { folder, settings: { packages } }: Project,
  path: string,
): Promise<IntegrationBundler> {
  const place = normalize(path)
  const code = await openCodeBundler(folder, join(place, 'index.ts'), packages)
  return {
    async bundle() {
      const file = join(place, integrationFile)
      const settings = readSettings(file, await readIfPresent(join(folder, file)))
      if ('problems' in settings) return settings
      const bundled = await code.bundle()
      return 'problems' in bundled ? bundled : { ...bundled, definition: settings }
    },
    [Symbol.asyncDispose]: () => code[Symbol.asyncDispose](),
  }
}

function readSettings(file: string, text: string | undefined): IntegrationSettings | { problems: Problem[] } {
  if (text === undefined) {
    return {
      problems: [{ file, message: `There is no file ${file}: write { "name": "crm", "version": "1.0.0" } to it` }],
    }
  }
  let settings: unknown
  try {
    settings = parseJson(text)
  } catch (error) {
    return { problems: [{ file, message: `${file} is not valid JSON (${(error as Error).message}): correct it` }] }
  }
  return isSettings(settings) ? settings : { problems: [{ file, message: `${file}: ${describeErrors(isSettings)}` }] }
}

export type StoredIntegration = AnswerOf<'getIntegration'>['integration']

/** The version of an integration that the workspace has under the name and version of a project's own; undefined without one. */
export async function findOwnIntegration(
  { ask }: Connection,
  { definition: { name, version } }: BundledIntegration,
): Promise<StoredIntegration | undefined> {
  try {
    const path = [name, version].map(encodeURIComponent).join('/')
    return (await ask<'getIntegrationByName'>('GET', `/v1/admin/integrations/${path}`)).integration
  } catch (error) {
    if (error instanceof Failure && error.type === 'ResourceNotFound') return undefined
    throw error
  }
}

/** Whether the workspace's version of an integration has another definition than the project declares. */
export function isOtherDefinition(
  stored: StoredIntegration,
  { $schema: _schema, name: _name, version: _version, ...declared }: IntegrationSettings,
): boolean {
  const given = mergePatch(integrationDefinitionSchema, {}, declared) as typeof declared
  const { actions = {}, channels = {}, interfaces = {}, visibility = stored.visibility } = given
  // The platform declares what the code exports, and completes the rest.
  const expected = toIntegration(
    {
      id: stored.id,
      name: stored.name,
      version: stored.version,
      permissions: stored.permissions,
      created_at: new Date(stored.createdAt),
      updated_at: new Date(stored.updatedAt),
      definition: {
        ...given,
        visibility,
        actions: { ...entriesOf(stored.actions ?? {}, undeclaredAction), ...actions },
        channels: { ...entriesOf(stored.channels, completeChannel({})), ...channels },
      },
    },
    [],
  )
  const { interfaces: _interfaces, ...compared } = definition
  return (
    Object.keys(compared).some(
      (field) => !isDeepStrictEqual(stored[field as keyof typeof compared], expected[field as keyof typeof compared]),
    ) ||
    !isDeepStrictEqual(Object.keys(stored.interfaces).toSorted(), Object.keys(interfaces).toSorted()) ||
    !containsDeep(stored.interfaces, interfaces)
  )
}

/** The entries of a map that have one value. */
function entriesOf<Entry>(map: Record<string, Entry>, value: unknown): Record<string, Entry> {
  return Object.fromEntries(Object.entries(map).filter(([, entry]) => isDeepStrictEqual(entry, value)))
}

/** Whether a value has all that another one has. */
function containsDeep(present: unknown, wanted: unknown): boolean {
  if (!isRecord(present) || !isRecord(wanted)) return isDeepStrictEqual(present, wanted)
  return Object.entries(wanted).every(([name, value]) => containsDeep(present[name], value))
}

/**
 * Creates or updates the version of an integration in the workspace.
 *
 * @param id of the version that the workspace has
 * @param net the hosts that its code may request
 * @returns the id, and warnings about the integration
 */
export async function uploadIntegration(
  { ask }: Connection,
  { code, sourceMap, definition: { $schema: _schema, name, version, ...others } }: BundledIntegration,
  { id, net, signal }: { id: string | undefined; net: string[]; signal?: AbortSignal | undefined },
): Promise<{ id: string; warnings: string[] }> {
  const body = { code, ...(sourceMap !== '' && { sourceMap }), ...others, permissions: { net } }
  const sending = signal && { signal }
  if (id !== undefined) {
    const update = (whole: object) => {
      const request = { body: { ...body, ...whole }, ...sending }
      return ask<'updateIntegration'>('PUT', `/v1/admin/integrations/${id}`, request)
    }
    const updated = await update({ replaceDefinition: true }).catch((error: unknown) => {
      // Earlier versions of the platform do not have the field, and keep what is not declared any more.
      if (error instanceof Failure && error.message.includes(`field 'replaceDefinition'`)) return update({})
      throw error
    })
    return { id, warnings: named(updated) }
  }
  const request = { body: { name, version, ...body }, ...sending }
  const created = await ask<'createIntegration'>('POST', '/v1/admin/integrations', request)
  return { id: created.integration.id, warnings: named(created) }

  function named({ warnings = [] }: { warnings?: string[] }): string[] {
    return warnings.map((warning) => `${name}@${version}: ${warning}`)
  }
}
