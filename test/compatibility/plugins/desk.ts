import type { VendorAnswer, VendorRequest } from '../stand-in/stand-in.ts'

/** The integration of the public repository that hands conversations over to the desk. */
export const deskIntegration = 'zendesk-messaging-hitl'

/** A stand-in of Zendesk's messaging service, with one conversation and an agent. */
export class Desk {
  readonly host = 'desk.zendesk.com'
  /** The state of the integration after the consent of the service. */
  readonly credentials = { token: 'access', appId: 'app', subdomain: 'desk' }
  /** The texts that the agent has seen, in order. */
  readonly received: string[] = []
  webhookId = ''
  webhookUrl = ''

  answer({ method, path, body }: VendorRequest): VendorAnswer {
    if (method === 'GET' && path.includes('/users/')) return { json: { errors: [{ code: 'not_found' }] }, status: 404 }
    if (path.endsWith('/users')) return { json: { user: { id: 'person' } }, status: 201 }
    if (path.endsWith('/conversations')) return { json: { conversation: { id: 'session' } }, status: 201 }
    if (path.endsWith('/messages')) {
      const { content } = JSON.parse(body) as { content: { text?: string } }
      const count = this.received.push(content.text ?? JSON.stringify(content))
      return { json: { messages: [{ id: `out-${count}`, received: new Date().toISOString() }] }, status: 201 }
    }
    return { json: {} }
  }

  /** Delivers a message of the agent. */
  async reply(text: string): Promise<void> {
    const author = { type: 'business', displayName: 'Grace' }
    const message = { id: 'reply', received: new Date().toISOString(), author, content: { type: 'text', text } }
    await this.#deliver('conversation:message', {
      message: { ...message, metadata: { '__zendesk_msg.agent.id': 'agent' } },
    })
  }

  /** Delivers the end of the session. */
  async end(): Promise<void> {
    await this.#deliver('switchboard:releaseControl', { reason: 'ticketClosed' })
  }

  async #deliver(type: string, payload: object): Promise<void> {
    const conversation = { id: 'session', metadata: { botpressIntegrationOwner: this.webhookId } }
    const event = { id: crypto.randomUUID(), createdAt: new Date().toISOString(), type }
    const body = JSON.stringify({ events: [{ ...event, payload: { conversation, ...payload } }] })
    const response = await fetch(this.webhookUrl, { method: 'POST', body })
    if (!response.ok) throw new Error(`the webhook answers ${response.status}: ${await response.text()}`)
  }
}
