import { follow } from '../../messaging/follow.ts'
import { inboxLine, type InboxLine } from '../../models/inbox-line.ts'
import { operation } from '../../rpc/operation.ts'
import { closedObject } from '../../schema.ts'
import { inboxTopic } from '../../signals/signals.ts'

export const followInbox = operation({
  name: 'followInbox',
  description:
    'Streams what happens in the handovers of the workspace, as lines of JSON (NDJSON). The lines name what has changed; the ' +
    'lists of handovers have it. The stream ends after an hour at the latest, and with the member’s role.',
  method: 'GET',
  path: '/v1/admin/handovers/follow',
  access: 'agent',
  stability: 'experimental',
  errors: ['RateLimited'],
  streamsLines: true,
  input: closedObject({}),
  output: inboxLine,

  async handle(context) {
    const topic = inboxTopic(context.caller.workspaceId)
    return follow(context, context.caller, { kind: 'inboxes', topic, toLine: (line) => line as InboxLine })
  },
})
