import type { Administrator } from '../rpc/caller.ts'
import { mergePatch } from '../code/merge-patch.ts'
import type { Context } from '../context.ts'
import { ApiError, notFound } from '../errors.ts'
import { acceptSchemas } from '../code/accept-schema.ts'
import type { InspectedCode } from '../code/inspect-code.ts'
import { newId } from '../ids.ts'
import { codeLimit, permissions, sourceMap } from '../models/bot-code.ts'
import { secrets } from '../models/definition.ts'
import {
  integrationDefinition,
  integrationDefinitionSchema,
  toIntegration,
  undeclaredAction,
  type Integration,
} from '../models/integration.ts'
import { readSecrets } from '../store/named-secrets.ts'
import type { Infer } from '../schema.ts'
import { findIntegration, type IntegrationCode, type ShownIntegration } from '../store/integrations.ts'

/** The fields of an integration, at its creation and in updates. */
export const integrationFields = {
  ...integrationDefinition,
  code: {
    type: 'string',
    maxLength: codeLimit,
    description:
      'One ES module that exports `register`, `unregister`, `handler`, `actions` and `channels`, or a bundle of the public SDK.',
  },
  sourceMap,
  permissions,
  secrets,
  public: {
    type: 'boolean',
    description: 'Deprecated, as `visibility` public or private: command lines before version 1 send it.',
  },
} as const

/** A field of updates of integrations. */
export const replaceDefinition = {
  type: 'boolean',
  description:
    'Whether the given definition takes the place of the present one, whose other fields and entries are removed: all but ' +
    '`visibility` and `dev`. Needs `code`.',
} as const

/**
 * The definition that an update of an integration is applied to.
 *
 * @throws ApiError `InvalidPayload` when the definition is replaced without the code whose functions it declares
 */
export function definitionToChange(
  present: Record<string, unknown>,
  {
    replaceDefinition: isReplaced = false,
    code,
  }: { replaceDefinition?: boolean | undefined; code?: string | undefined },
): Record<string, unknown> {
  if (!isReplaced) return present
  if (code === undefined) {
    throw new ApiError('InvalidPayload', 'replaceDefinition: needs code, whose functions the definition declares')
  }
  const { visibility, dev } = present
  return { ...(visibility !== undefined && { visibility }), ...(dev !== undefined && { dev }) }
}

/** The fields of a change that make up the definition: `public` becomes the visibility, unless that is given too. */
export function withVisibility<Given extends { visibility?: string; public?: boolean }>(
  { public: isPublic, ...change }: Given,
  before: Infer<typeof integrationDefinitionSchema>,
) {
  if (change.visibility !== undefined || isPublic === undefined) return change
  if (isPublic) return { ...change, visibility: 'public' as const }
  return before.visibility === 'public' ? { ...change, visibility: 'private' as const } : change
}

/**
 * The definition of an integration after a change. Actions and channels that its code exports are declared even when
 * the definition does not contain them.
 *
 * @throws ApiError `InvalidJsonSchema` when a schema in the change is invalid, or cannot be run within bounds
 * @throws ApiError `LimitExceeded` when the definition has grown too long, or a schema exceeds a limit
 */
export function changeDefinition(
  before: Record<string, unknown>,
  change: Infer<typeof integrationDefinitionSchema>,
  code: Pick<InspectedCode, 'actions' | 'channels'> | undefined,
): Record<string, unknown> {
  const definition = mergePatch(integrationDefinitionSchema, before, change)
  acceptSchemas(integrationDefinitionSchema, change)
  const { actions, channels } = definition as Infer<typeof integrationDefinitionSchema>
  if (!code) return definition
  return {
    ...definition,
    actions: { ...Object.fromEntries(code.actions.map((name) => [name, undeclaredAction])), ...actions },
    channels: { ...Object.fromEntries(code.channels.map((name) => [name, {}])), ...channels },
  }
}

/** Inspected code in the form in which it is stored, with a unique id. */
export function toStoredCode({ kind, hash, bundleId }: InspectedCode): IntegrationCode {
  return { codeId: newId('code'), kind, hash, bundleId }
}

/** The stored description of code that runs at an address, on its author's machine. */
export function codeElsewhere(): IntegrationCode {
  return { codeId: newId('code'), kind: 'sdk', hash: '', bundleId: null }
}

/** @throws ApiError `ResourceNotFound` when the workspace has none with that id */
export async function describeIntegration(
  { db, caller, config }: Context & { caller: Administrator },
  id: string,
): Promise<Integration> {
  const row: ShownIntegration | undefined = await findIntegration(db, caller.workspaceId, id)
  if (!row) throw noSuchIntegration(id)
  return toIntegration(row, Object.keys(await readSecrets(config.secret, row)))
}

export function noSuchIntegration(id: string): ApiError {
  return notFound(`Integration '${id}'`)
}
