import { createHash, createHmac, createSign, generateKeyPairSync } from 'node:crypto'
import type { VendorAnswer, VendorRequest } from '../stand-in/stand-in.ts'

/** A request of a messaging service to a webhook. */
export interface Delivery {
  body: string
  headers: Record<string, string>
  query?: Record<string, string>
}

/** A messaging service with one account, and how a public integration is installed for it. */
export interface Channel {
  /** The hosts of the service. */
  hosts: string[]
  configurationType?: string
  configuration: Record<string, unknown>
  /** The states of the installation after its wizard, by their names. */
  states?: Record<string, object>
  /** The request for a message that a person sends, with the signature of the service. @param id of the message */
  deliver(text: string, id: number): Delivery
  /** Whether a request of the integration sends a message. */
  sends(request: VendorRequest): boolean
  /** The answer to a request of the integration. @param id of the message that it sends */
  answer(request: VendorRequest, id: number): VendorAnswer
  /** The words by which the service recognizes an answer of the bot, where they differ; null for one that the integration cannot send. */
  words?: Partial<Record<'image' | 'choice' | 'card', string[] | null>>
}

const person = '15550100'
/** The secret of every account, and of the operator's apps. */
export const secret = 'secret-of-the-stand-in'
const seconds = () => Math.floor(Date.now() / 1000)

/** A time some hours from now. */
const hours = (count: number) => new Date(Date.now() + count * 3_600_000).toISOString()

/** The rights without which the integration of Slack does not register. */
const slackScopes =
  `channels:history channels:manage channels:read chat:write files:read files:write groups:history groups:read groups:write
  im:history im:read im:write mpim:history mpim:read mpim:write reactions:read reactions:write team:read users.profile:read
  users:read users:read.email`.split(/\s+/)

const json = (body: unknown, headers: Record<string, string> = {}): Delivery => ({
  body: JSON.stringify(body),
  headers: { 'content-type': 'application/json', ...headers },
})

/** The fields of a JSON Web Token, as text. */
const encoded = (fields: object) => Buffer.from(JSON.stringify(fields)).toString('base64url')

/** The key with which Microsoft signs its deliveries. */
const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })

/** A token as Microsoft's service sends it with each delivery. */
function tokenOfMicrosoft(): string {
  const claims = { iss: 'https://api.botframework.com', aud: 'app', exp: seconds() + 3600, nbf: seconds() - 60 }
  const signed = `${encoded({ alg: 'RS256', typ: 'JWT', kid: 'key' })}.${encoded(claims)}`
  return `${signed}.${createSign('RSA-SHA256').update(signed).sign(privateKey, 'base64url')}`
}

/** An address in a delivery of Postmark. */
const mailbox = (Email: string) => ({ Email, Name: Email, MailboxHash: '' })

/** A delivery that Meta signs. */
function signedByMeta(content: unknown): Delivery {
  const { body, headers } = json(content)
  const signature = createHmac('sha256', secret).update(body).digest('hex')
  return { body, headers: { ...headers, 'x-hub-signature-256': `sha256=${signature}` } }
}

/** The messages of Messenger and of Instagram have one form. */
function messaging(object: string, text: string, id: number): Delivery {
  const message = { mid: `mid.${id}`, text }
  const item = { sender: { id: person }, recipient: { id: '4711' }, timestamp: Date.now(), message }
  return signedByMeta({ object, entry: [{ id: '4711', time: Date.now(), messaging: [item] }] })
}

export const channels: Record<string, Channel> = {
  telegram: {
    hosts: ['api.telegram.org'],
    configuration: { botToken: '4711:token', typingIndicatorEmoji: false },
    deliver(text, id) {
      const from = { id: 4712, is_bot: false, first_name: 'Ada', username: 'ada' }
      const message = { message_id: id, from, chat: { id: 4712, type: 'private' }, date: seconds(), text }
      return json({ update_id: id, message })
    },
    sends: ({ path }) => /\/send(?!ChatAction)/.test(path),
    answer({ path }, id) {
      const message = { message_id: 1000 + id, date: seconds(), chat: { id: 4712, type: 'private' } }
      const results = { setWebhook: true, deleteWebhook: true, getUserProfilePhotos: { total_count: 0, photos: [] } }
      const name = path.split('/').at(-1)!
      return { json: { ok: true, result: name in results ? results[name as keyof typeof results] : message } }
    },
  },
  whatsapp: {
    hosts: ['graph.facebook.com'],
    configurationType: 'manual',
    configuration: {
      verifyToken: 'verify',
      accessToken: 'access',
      clientSecret: secret,
      defaultBotPhoneNumberId: '4711',
    },
    deliver(text, id) {
      const value = {
        messaging_product: 'whatsapp',
        metadata: { display_phone_number: '15550199', phone_number_id: '4711' },
        contacts: [{ wa_id: person, profile: { name: 'Ada' } }],
        messages: [
          { from: person, id: `wamid.${id}`, timestamp: String(seconds()), type: 'text', text: { body: text } },
        ],
      }
      return signedByMeta({
        object: 'whatsapp_business_account',
        entry: [{ id: '1', changes: [{ field: 'messages', value }] }],
      })
    },
    sends: ({ method, path, body }) => method === 'POST' && path.endsWith('/messages') && !body.includes('"read"'),
    answer({ path }, id) {
      if (path.endsWith('/app')) return { json: { id: '1', name: 'Stand-in' } }
      const contacts = [{ input: person, wa_id: person }]
      return { json: { messaging_product: 'whatsapp', success: true, contacts, messages: [{ id: `wamid.out.${id}` }] } }
    },
  },
  messenger: {
    hosts: ['graph.facebook.com'],
    configurationType: 'manual',
    configuration: {
      clientId: '1',
      clientSecret: secret,
      verifyToken: 'verify',
      accessToken: 'access',
      pageId: '4711',
      shouldGetUserProfile: true,
    },
    deliver: (text, id) => messaging('page', text, id),
    sends: ({ method, path, body }) =>
      method === 'POST' && path.endsWith('/me/messages') && !body.includes('sender_action'),
    answer: ({ method }, id) =>
      method === 'GET'
        ? { json: { id: person, name: 'Ada', profile_pic: 'https://files.example/ada.png' } }
        : { json: { recipient_id: person, message_id: `mid.out.${id}` } },
  },
  instagram: {
    hosts: ['graph.instagram.com'],
    configurationType: 'manual',
    configuration: { clientSecret: secret, verifyToken: 'verify', accessToken: 'access', instagramId: '4711' },
    deliver: (text, id) => messaging('instagram', text, id),
    sends: ({ method, path }) => method === 'POST' && path.endsWith('/messages'),
    answer: ({ method }, id) =>
      method === 'GET'
        ? { json: { id: person, name: 'Ada', username: 'ada' } }
        : { json: { recipient_id: person, message_id: `mid.out.${id}` } },
  },
  slack: {
    hosts: ['slack.com'],
    configuration: { typingIndicatorEmoji: false },
    states: {
      oAuthCredentialsV2: {
        shortLivedAccessToken: { currentAccessToken: 'access', issuedAt: hours(0), expiresAt: hours(12) },
        rotatingRefreshToken: { token: 'refresh', issuedAt: hours(0) },
        grantedScopes: slackScopes,
        botUserId: 'U4711',
        teamId: 'T4711',
      },
    },
    deliver(text, id) {
      const event = {
        type: 'message',
        channel: 'C1',
        channel_type: 'channel',
        user: 'U1',
        text,
        ts: `${seconds()}.${id}`,
      }
      const { body, headers } = json({ type: 'event_callback', team_id: 'T4711', event_id: `Ev${id}`, event })
      const timestamp = String(seconds())
      const signature = createHmac('sha256', secret).update(`v0:${timestamp}:${body}`).digest('hex')
      const signed = { 'x-slack-request-timestamp': timestamp, 'x-slack-signature': `v0=${signature}` }
      return { body, headers: { ...headers, ...signed } }
    },
    sends: ({ path }) => path === '/api/chat.postMessage',
    answer(_request, id) {
      const profile = { real_name: 'Ada', display_name: 'Ada', image_192: 'https://files.example/ada.png' }
      const ts = `${seconds()}.${1000 + id}`
      return {
        json: { ok: true, profile, user: { id: 'U1', profile }, channel: 'C1', ts, message: { ts, type: 'message' } },
      }
    },
  },
  line: {
    hosts: ['api.line.me'],
    configuration: { channelAccessToken: 'access', channelSecret: secret },
    deliver(text, id) {
      const event = {
        type: 'message',
        webhookEventId: String(id),
        timestamp: Date.now(),
        replyToken: `reply-${id}`,
        mode: 'active',
        deliveryContext: { isRedelivery: false },
        source: { type: 'user', userId: person },
        message: { type: 'text', id: String(id), text },
      }
      const { body, headers } = json({ destination: '4711', events: [event] })
      const signature = createHmac('sha256', secret).update(body).digest('base64')
      return { body, headers: { ...headers, 'x-line-signature': signature } }
    },
    sends: ({ path }) => /^\/v2\/bot\/message\/(reply|push)$/.test(path),
    answer: (_request, id) => ({ json: { sentMessages: [{ id: String(1000 + id), quoteToken: 'quote' }] } }),
  },
  viber: {
    hosts: ['chatapi.viber.com'],
    configuration: { authToken: 'access', botName: 'Stand-in', botAvatar: 'https://files.example/bot.png' },
    deliver: (text, id) =>
      json({
        event: 'message',
        timestamp: Date.now(),
        message_token: id,
        sender: { id: person, name: 'Ada' },
        message: { type: 'text', text },
      }),
    sends: ({ path }) => path === '/pa/send_message',
    answer: (_request, id) => ({ json: { status: 0, status_message: 'ok', message_token: 1000 + id } }),
  },
  vonage: {
    hosts: ['api.nexmo.com'],
    configuration: { apiKey: 'key', apiSecret: secret, signatureSecret: secret, useTestingApi: false },
    deliver: (text, id) =>
      json({ channel: 'sms', message_uuid: `m-${id}`, to: '4711', from: person, message_type: 'text', text }),
    sends: ({ path }) => path === '/v1/messages',
    answer: (_request, id) => ({ json: { message_uuid: `out-${id}` }, status: 202 }),
  },
  twilio: {
    hosts: ['api.twilio.com'],
    configuration: { accountSID: 'AC4711', authToken: secret, downloadMedia: false },
    deliver(text, id) {
      const fields = { From: `+${person}`, To: '+15550199', MessageSid: `SM${id}`, Body: text, NumMedia: '0' }
      const headers = { 'content-type': 'application/x-www-form-urlencoded' }
      return { body: new URLSearchParams(fields).toString(), headers }
    },
    sends: ({ method, path }) => method === 'POST' && path.endsWith('/Messages.json'),
    answer: (_request, id) => ({ json: { sid: `SM-out-${id}`, status: 'queued' }, status: 201 }),
  },
  teams: {
    hosts: ['login.microsoftonline.com', 'login.botframework.com', 'smba.trafficmanager.net'],
    configuration: { appId: 'app', appPassword: secret, tenantId: 'tenant' },
    deliver(text, id) {
      const activity = {
        type: 'message',
        id: `activity-${id}`,
        timestamp: hours(0),
        serviceUrl: 'https://smba.trafficmanager.net/emea/',
        channelId: 'msteams',
        from: { id: '29:ada', name: 'Ada', aadObjectId: 'ada' },
        conversation: { conversationType: 'personal', tenantId: 'tenant', id: 'a:conversation' },
        recipient: { id: '28:app', name: 'Stand-in' },
        locale: 'en-US',
        text,
      }
      return json(activity, { authorization: `Bearer ${tokenOfMicrosoft()}` })
    },
    sends: ({ method, path }) => method === 'POST' && /\/v3\/conversations\/.*\/activities/.test(path),
    answer({ path, query }, id) {
      if (path.endsWith('/keys'))
        return { json: { keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'key', use: 'sig' }] } }
      if (path.endsWith('/token')) return { json: { token_type: 'Bearer', expires_in: 3599, access_token: 'access' } }
      const authority = 'https://login.microsoftonline.com/tenant'
      if (path.endsWith('/instance')) {
        return {
          json: {
            tenant_discovery_endpoint: query
              .get('authorization_endpoint')
              ?.replace(/oauth2.*/, '.well-known/openid-configuration'),
            metadata: [
              {
                preferred_network: 'login.microsoftonline.com',
                preferred_cache: 'login.windows.net',
                aliases: ['login.microsoftonline.com'],
              },
            ],
          },
        }
      }
      if (path.endsWith('/openid-configuration')) {
        const [issuer, endpoint] = [`${authority}/v2.0`, `${authority}/oauth2/v2.0`]
        return {
          json: { issuer, token_endpoint: `${endpoint}/token`, authorization_endpoint: `${endpoint}/authorize` },
        }
      }
      if (path.includes('/members/')) return { json: { id: '29:ada', name: 'Ada', email: 'ada@example.com' } }
      return { json: { id: `out-${id}` }, status: 201 }
    },
  },
  sunco: {
    hosts: ['stand-in.zendesk.com'],
    configuration: {},
    states: {
      credentials: { token: 'access', appId: 'app', subdomain: 'stand-in' },
      webhook: { id: 'webhook', secret },
    },
    deliver(text, id) {
      const payload = {
        conversation: { id: 'conversation', type: 'personal' },
        message: {
          id: `message-${id}`,
          received: hours(0),
          author: { type: 'user', userId: person, displayName: 'Ada', user: { id: person } },
          content: { type: 'text', text },
          source: { type: 'web' },
        },
      }
      const event = { id: `event-${id}`, createdAt: hours(0), type: 'conversation:message', payload }
      return json({ app: { id: 'app' }, webhook: { id: 'webhook' }, events: [event] }, { 'x-api-key': secret })
    },
    sends: ({ method, path }) => method === 'POST' && path.endsWith('/messages'),
    answer: (_request, id) => ({ json: { messages: [{ id: `out-${id}`, received: hours(0) }] }, status: 201 }),
  },
  wechat: {
    hosts: ['api.weixin.qq.com', 'files.example'],
    configuration: { appId: 'app', appSecret: secret, webhookSigningSecret: secret },
    deliver(text, id) {
      const [timestamp, nonce] = [String(seconds()), `nonce-${id}`]
      const signature = createHash('sha1').update([secret, timestamp, nonce].toSorted().join('')).digest('hex')
      const fields = { ToUserName: 'stand-in', FromUserName: person, MsgType: 'text', Content: text }
      const texts = Object.entries(fields).map(([name, value]) => `<${name}><![CDATA[${value}]]></${name}>`)
      const body = `<xml>${texts.join('')}<CreateTime>${timestamp}</CreateTime><MsgId>${4700 + id}</MsgId></xml>`
      return { body, headers: { 'content-type': 'text/xml' }, query: { signature, timestamp, nonce } }
    },
    sends: ({ path }) => path === '/cgi-bin/message/custom/send',
    answer({ path }, id) {
      if (path === '/picture.png') return { file: Buffer.from('a picture'), type: 'image/png' }
      if (path.endsWith('/token')) return { json: { access_token: 'access', expires_in: 7200 } }
      if (path.endsWith('/upload')) return { json: { type: 'image', media_id: 'uploaded', created_at: seconds() } }
      return { json: { errcode: 0, errmsg: 'ok', msgid: String(1000 + id) } }
    },
    words: { image: ['uploaded'], choice: null, card: null },
  },
  intercom: {
    hosts: ['api.intercom.io'],
    configuration: { accessToken: 'access', adminId: '4711', clientSecret: secret },
    deliver(text, id) {
      const author = { type: 'user', id: person, email: 'ada@example.com' }
      const part = { type: 'conversation_part', id: `part-${id}`, author, body: `<p>${text}</p>` }
      const item = {
        type: 'conversation',
        id: 'conversation',
        admin_assignee_id: 4711,
        source: { ...part, type: 'conversation' },
        conversation_parts: { conversation_parts: id === 1 ? [] : [part] },
      }
      const topic = id === 1 ? 'conversation.user.created' : 'conversation.user.replied'
      const { body, headers } = json({ type: 'notification_event', topic, data: { item } })
      const signature = createHmac('sha1', secret).update(body).digest('hex')
      return { body, headers: { ...headers, 'x-hub-signature': `sha1=${signature}` } }
    },
    sends: ({ path }) => path.endsWith('/reply'),
    answer: (_request, id) => ({
      json: { type: 'conversation', conversation_parts: { conversation_parts: [{ id: `out-${id}` }] } },
    }),
    words: { choice: ['Which one?', 'first', 'second'], card: ['A card', 'taken'] },
  },
  postmark: {
    hosts: ['api.postmarkapp.com', 'files.example'],
    configuration: { serverToken: 'access', fromEmail: 'bot@example.com', webhookSecret: secret },
    deliver(text, id) {
      const [ada, bot] = ['ada@example.com', 'bot@example.com']
      const thread = id === 1 ? [] : [{ Name: 'References', Value: '<mail-1@example.com>' }]
      const Headers = [{ Name: 'Message-ID', Value: `<mail-${id}@example.com>` }, ...thread]
      const sent = {
        From: ada,
        FromName: 'Ada',
        FromFull: mailbox(ada),
        To: bot,
        ToFull: [mailbox(bot)],
        Date: hours(0),
      }
      const delivery = json({ ...sent, Subject: 'A question', MessageID: `mail-${id}`, TextBody: text, Headers })
      return { ...delivery, query: { secret } }
    },
    sends: ({ method, path }) => method === 'POST' && path === '/email',
    answer({ path }, id) {
      if (path.endsWith('.png')) return { file: Buffer.from('a picture'), type: 'image/png' }
      if (path === '/server') return { json: { ID: 1, Name: 'Stand-in', InboundHookUrl: '' } }
      return { json: { ErrorCode: 0, Message: 'OK', MessageID: `out-${id}`, To: 'ada@example.com' } }
    },
    words: { image: ['picture.png', Buffer.from('a picture').toString('base64')] },
  },
}
