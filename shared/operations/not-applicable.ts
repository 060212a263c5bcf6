/** An operation of the published clients that this platform does not have. */
export interface NotApplicable {
  /** The name of the method in the published clients. */
  name: string
  method: string
  /** With `{parameter}` for one segment, as operations have it. */
  path: string
  /** Why the platform does not have it, and what to use instead; ends an error's message and stands in docs/operations.md. */
  reason: string
}

type Entry = [name: string, method: string, path: string]

/** @param of entries whose paths begin with `prefix` */
function because(reason: string, prefix: string, of: Entry[]): NotApplicable[] {
  return of.map(([name, method, path]) => ({ name, method, path: `${prefix}${path}`, reason }))
}

/**
 * The operations of the published clients that the platform does not have, with the reasons. A test compares them, the
 * operations and docs/operations.md with the published clients: each operation is here or in `index.ts`, and not in both.
 */
export const notApplicable: NotApplicable[] = [
  ...because('the platform has no billing', '/v2/billing', [
    ['getBillingReadonly', 'GET', '/readonly'],
    ['getBillingAddress', 'GET', '/address'],
    ['setBillingAddress', 'PUT', '/address'],
    ['getPlan', 'GET', '/plans/{planId}'],
    ['listPlans', 'GET', '/plans'],
    ['setPlan', 'PUT', '/plans'],
    ['getAddon', 'GET', '/addons/{addonId}'],
    ['listAddons', 'GET', '/addons'],
    ['setAddons', 'PATCH', '/addons'],
    ['getSubscription', 'GET', '/subscriptions'],
    ['previewSubscriptionUpdate', 'POST', '/subscriptions/preview'],
    ['setCancelAtPeriodEnd', 'POST', '/subscriptions/cancel'],
    ['getAutoRechargeSettings', 'GET', '/auto-recharge/settings'],
    ['setAutoRechargeSettings', 'PUT', '/auto-recharge/settings'],
    ['getTrials', 'GET', '/trials'],
    ['createTrial', 'POST', '/trials'],
    ['removeTrial', 'DELETE', '/trials'],
    ['createCreditGrant', 'POST', '/credit-grants'],
    ['listInvoices', 'GET', '/invoices'],
    ['payInvoice', 'POST', '/invoices/{invoiceId}/pay'],
    ['getPaymentMethod', 'GET', '/payment-methods'],
    ['setPaymentMethod', 'POST', '/payment-methods'],
    ['createPaymentMethodIntent', 'POST', '/payment-methods/intent'],
    ['getQuotas', 'GET', '/quotas'],
  ]),
  ...because('the platform has no billing; `getUsage` and `listWorkspaceUsages` count', '/v2/usage', [
    ['getWorkspaceUsage', 'GET', '/workspace-usage'],
    ['getWorkspaceUsages', 'GET', '/workspace-usages'],
  ]),
  ...because('the platform has no billing', '/v1/admin/workspaces/{id}', [
    ['migrateWorkspaceToV4', 'POST', '/migrate-to-v4'],
    ['listWorkspaceInvoices', 'GET', '/billing/invoices'],
    ['getUpcomingInvoice', 'GET', '/billing/upcoming-invoice'],
    ['chargeWorkspaceUnpaidInvoices', 'POST', '/billing/invoices/charge-unpaid'],
  ]),
  ...because('a workspace has no quotas: limits are those of bots and of the server (docs/limits.md)', '/v1/admin', [
    ['getWorkspaceQuota', 'GET', '/workspaces/{id}/quota'],
    ['listWorkspaceQuotas', 'GET', '/workspaces/{id}/quotas'],
    ['getAllWorkspaceQuotaCompletion', 'GET', '/workspaces/usages/quota-completion'],
    ['changeAISpendQuota', 'PUT', '/quotas/ai-spend'],
  ]),
  ...because(
    'usage is counted when it is asked for, and its course is not stored: `getBotAnalytics` counts by day',
    '/v1/admin/usages/{id}',
    [
      ['listUsageActivity', 'GET', '/activity'],
      ['listUsageActivityDaily', 'GET', '/daily-activity'],
    ],
  ),
  ...because(
    'the platform signs no requests; `updateBot` changes `webhookSecret` and `encryptionKey`, the secrets of a chat’s ' +
      'configuration',
    '/v1/admin',
    [
      ['rotateBotSigningSecrets', 'POST', '/bots/{id}/signing-secrets/rotate'],
      ['rotateIntegrationSigningSecrets', 'POST', '/integrations/{id}/signing-secrets/rotate'],
    ],
  ),
  ...because(
    'the platform has no shared accounts of services, to which such ids connect conversations: each installation has its own',
    '/v1/admin/bots/{botId}/integrations/{integrationId}',
    [
      ['createIntegrationShareableId', 'POST', '/shareable-id'],
      ['getIntegrationShareableId', 'GET', '/shareable-id'],
      ['deleteIntegrationShareableId', 'DELETE', '/shareable-id'],
      ['unlinkSandboxedConversations', 'DELETE', '/sandboxed-conversations'],
    ],
  ),
  ...because(
    'members have access to all bots of a workspace, by their roles (docs/admin-api.md)',
    '/v1/admin/bots/{botId}',
    [
      ['getBotAllowlist', 'GET', '/allowlist'],
      ['updateBotAllowlist', 'PUT', '/allowlist'],
    ],
  ),
  ...because(
    'the inputs of the calls that code makes are not stored: `getBotEvent`, of Isobot’s own, shows the calls of an event',
    '/v1/admin/bots/{id}',
    [['listActionRuns', 'GET', '/action-runs']],
  ),
  ...because('tasks are retired; `listBotEvents`, of Isobot’s own, lists what a bot did', '/v1/admin', [
    ['listActivities', 'GET', '/activities'],
  ]),
  ...because('it is the format of another editor: `getBotVersion` returns code and flows', '/v1/admin/bots/{id}', [
    ['getBotJson', 'GET', '/bot-json'],
    ['publishFromBotJson', 'POST', '/publish-from-bot-json'],
  ]),
  ...because('the code of a page is written by its author: docs/web-chat.md has it', '/v1/admin/bots/{id}', [
    ['getBotWebchat', 'GET', '/webchat'],
  ]),
  ...because('integrations are not verified: operators decide which ones they install', '/v1/admin/integrations', [
    ['requestIntegrationVerification', 'POST', '/request-verification'],
  ]),
  ...because('scripts run with the integration that declares them, and only there', '/v1/admin', [
    ['runVrl', 'POST', '/helper/vrl'],
  ]),
]
