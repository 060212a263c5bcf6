import { ApiError, notFound } from '../../errors.ts'
import { newToken } from '../../ids.ts'
import { runScript } from '../../integrations/run-script.ts'
import { linkScript, scriptOf } from '../../models/script.ts'
import { operation } from '../../rpc/operation.ts'
import { closedObject } from '../../schema.ts'
import { hashToken } from '../../secrets.ts'
import { insertAuthorization } from '../../store/authorizations.ts'
import { findInstallation } from '../../store/installations.ts'
import { listInstalledIntegrations } from '../../store/integrations.ts'
import { findOwnBot } from './find-version.ts'

const minutes = 10
const maxLinkCharacters = 4096

export const authorizeInstallation = operation({
  name: 'authorizeInstallation',
  description:
    'Makes a link at which a person authorizes an installed integration with its service. It works once, for ten minutes, and only in the browser that follows it.',
  method: 'POST',
  path: '/v1/admin/bots/{id}/installations/{installationId}/authorize',
  access: 'developer',
  stability: 'experimental',
  errors: ['ResourceNotFound'],
  auditedFields: ['installationId'],
  input: closedObject({ id: { type: 'string' }, installationId: { type: 'string' } }),
  output: closedObject({
    url: { type: 'string', description: 'The address to open in a browser.' },
    expiresAt: { type: 'string', format: 'date-time' },
  }),

  async handle(context, { id: botId, installationId }) {
    const { db, config } = context
    await findOwnBot(context, botId)
    const installation = await findInstallation(db, config.secret, botId, installationId)
    const workspaceId = installation?.integration_workspace_id
    if (!workspaceId) throw notFound(`Installation '${installationId}'`, 'the bot has no such integration')
    const script = linkScript(installation.configuration_type)
    const installed = await listInstalledIntegrations(db, botId)
    const integration = installed.find((one) => one.id === installation.integration_id)
    if (!integration || scriptOf(integration.definition, script) === undefined) {
      throw new ApiError(
        'InvalidPayload',
        `The integration '${installation.alias}' has no authorization: its configuration has no linkTemplateScript`,
      )
    }
    const { baseUrl } = config.http
    const outcome = await runScript(context, { id: integration.id, workspaceId }, script, {
      webhookId: installation.webhook_id,
      webhookUrl: baseUrl,
      // Templates choose the service's own application by it, and know `production` and `staging`.
      env: 'production',
    })
    if (outcome.status === 'failed') throw wrongLink(installation.alias, outcome.reason)
    const link = checkedLink(outcome.result, baseUrl)
    if (link === undefined) throw wrongLink(installation.alias, 'its result is no https address')
    const token = newToken('aut')
    await insertAuthorization(db, { tokenHash: hashToken(token), installationId, botId, link, minutes })
    return { url: `${baseUrl}/authorize/${token}`, expiresAt: new Date(Date.now() + minutes * 60_000).toISOString() }
  },
})

function wrongLink(alias: string, reason: string): ApiError {
  return new ApiError('InvalidPayload', `The linkTemplateScript of the integration '${alias}' failed: ${reason}`)
}

/** The address, where it leads to https or to this platform. */
function checkedLink(link: unknown, baseUrl: string): string | undefined {
  if (typeof link !== 'string' || link.length > maxLinkCharacters || !URL.canParse(link)) return undefined
  const { protocol, origin, href } = new URL(link)
  return protocol === 'https:' || origin === new URL(baseUrl).origin ? href : undefined
}
