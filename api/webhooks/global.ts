import type { Request } from 'express'
import type { Context } from '#shared/context.ts'
import { ApiError, notFound } from '#shared/errors.ts'
import { runScript } from '#shared/integrations/run-script.ts'
import { scriptOf, type ScriptName } from '#shared/models/script.ts'
import { findGlobalIntegration, findIdentified, type GlobalIntegration } from '#shared/store/integrations.ts'
import { addLogFields } from '#shared/telemetry/log-scope.ts'
import { megabyte } from '#shared/units.ts'
import { announcedBytes } from '../overload.ts'
import { deliver, findEnabled, toPayload, type Hold } from './deliver.ts'
import { replyOf, toWebhookReply, type WebhookReply } from './reply.ts'

/** Services send at most 3 MB. The script reads the body as one text. */
const maxBytes = 4 * megabyte
const loggedCharacters = 200

/**
 * Answers a request to the address of all installations of an integration, `/integration/global/{name}/…`: the script of
 * the integration finds the identifier of the installation in it, which then handles it. A request for an installation
 * that does not exist is answered by another script, or by nothing, because services disable addresses that fail.
 */
export async function answerGlobal(context: Context, request: Request, hold: Hold): Promise<WebhookReply> {
  const { integration, path } = await findAddressed(context, request.path)
  addLogFields({ operation: 'global webhook', integrationId: integration.id })
  const body = await readWhole(request, (bytes) => hold(bytes, integration.workspace_id))
  const input = { ...toPayload(request, path), ...(body.length > 0 && { body: body.toString() }) }
  const identifier = await resultOf(context, integration, 'identifier', input)
  const isText = typeof identifier === 'string' && identifier !== ''
  const webhookId = isText ? await findIdentified(context.db, integration, identifier) : undefined
  const installation = webhookId === undefined ? undefined : await findEnabled(context, webhookId)
  if (installation) return toWebhookReply(await deliver(context, request, { installation, path, body }, hold))
  if (isText) {
    // The service gets a 200 all the same, so only this line says why its events reach no bot.
    const seen = { integration: integration.name, identifier: identifier.slice(0, loggedCharacters) }
    context.log.info(seen, 'No enabled installation has the identifier in the request')
  }
  const hasFallback = scriptOf(integration.definition, 'fallback') !== undefined
  const answer = hasFallback ? await resultOf(context, integration, 'fallback', input) : undefined
  return replyOf(answer ?? {}) ?? { status: 200, headers: {} }
}

/** Names of integrations may begin with the handle of a workspace: `handle/name`. */
async function findAddressed({ db }: Context, path: string): Promise<{ integration: GlobalIntegration; path: string }> {
  const [first = '', second, ...others] = path.slice(1).split('/')
  const plain = await findGlobalIntegration(db, decoded(first))
  if (plain) return { integration: plain, path: second === undefined ? '/' : `/${[second, ...others].join('/')}` }
  const withHandle = second && (await findGlobalIntegration(db, `${decoded(first)}/${decoded(second)}`))
  if (withHandle) return { integration: withHandle, path: `/${others.join('/')}` }
  throw notFound(`Integration '${decoded(first)}'`, 'none of this name has a script that finds identifiers')
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** The result of a script; undefined when it fails, for which only the log has the reason. */
async function resultOf(
  context: Context,
  { id, workspace_id: workspaceId, name: integration }: GlobalIntegration,
  script: ScriptName,
  input: Record<string, unknown>,
): Promise<unknown> {
  const outcome = await runScript(context, { id, workspaceId }, script, input)
  if (outcome.status === 'completed') return outcome.result
  // Integrations show the operator a service's verification token by a failing assertion.
  context.log.warn({ integration, script, reason: outcome.reason }, 'A script of an integration failed')
  return undefined
}

/** @throws ApiError `PayloadTooLarge` */
async function readWhole(request: Request, hold: (bytes: number) => void): Promise<Buffer> {
  const tooLarge = () =>
    new ApiError('PayloadTooLarge', `The body is larger than ${maxBytes / megabyte} MB, the maximum of this address`)
  const announced = announcedBytes(request)
  if (announced !== Infinity && announced > maxBytes) throw tooLarge()
  const parts: Buffer[] = []
  let total = 0
  // A destroyed request could no longer be answered.
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    const part = chunk as Buffer
    total += part.length
    if (total > maxBytes) throw tooLarge()
    hold(part.length)
    parts.push(part)
  }
  return Buffer.concat(parts)
}
