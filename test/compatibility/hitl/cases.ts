import type { Handover, Scene } from './session.ts'
import { openVisitor } from './visitor.ts'

const url = 'https://example.com/attached'

/** A message of each type that the plugin copies, as a member writes it. */
const relayed: Record<string, Record<string, unknown>> = {
  text: { text: 'My order' },
  image: { imageUrl: url },
  audio: { audioUrl: url },
  video: { videoUrl: url },
  file: { fileUrl: url, title: 'Invoice' },
  bloc: { items: [{ type: 'text', payload: { text: 'My order' } }] },
}

const texts = {
  handedOver: 'I have escalated this conversation to a human agent. They should be with you shortly.',
  assigned: 'A human agent has joined the conversation.',
  stopped: 'The human agent closed the conversation. I will continue assisting you.',
  ended: 'You have ended the session with the human agent. I will continue assisting you.',
  cancelled: '( The user has ended the session. )',
  nobody:
    'No human agent is available at the moment. Please try again later. I will continue assisting you for the time being.',
}

const text = (of: string) => ({ type: 'text', payload: { text: of } })

/** Has the plugin begin a session, and waits until a member can take it. */
async function begin(scene: Scene, input: object = {}): Promise<Handover> {
  await scene.say(`/start ${JSON.stringify(input)}`)
  await scene.hear('text', { text: texts.handedOver })
  return scene.session('pending')
}

/** Has a member answer, and the user know. */
async function take(scene: Scene, handover: Handover): Promise<void> {
  await takeOver(scene, handover)
  await scene.hear('text', { text: texts.assigned })
}

/** Has a member take a session, as soon as the run that began it has ended. */
async function takeOver(scene: Scene, handover: Handover): Promise<void> {
  const path = `/conversations/${handover.conversationId}/handover`
  for (let attempt = 0; ; attempt++) {
    try {
      await scene.asMember('POST', path)
      return
    } catch (error) {
      if (attempt === 50 || !(error as Error).message.includes('try again')) throw error
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
}

async function reply(scene: Scene, { conversationId }: Handover, message: { type: string; payload: object }) {
  await scene.asMember('POST', `/conversations/${conversationId}/messages`, message)
}

/** The bot answers the user again, and a second session can begin. */
async function assertResumed(scene: Scene): Promise<void> {
  await scene.say('Hello')
  await scene.hear('text', { text: 'Bot: text' })
}

function assertEqual(actual: unknown, expected: unknown): void {
  const [one, other] = [JSON.stringify(actual), JSON.stringify(expected)]
  if (one !== other) throw new Error(`Expected ${other}, not ${one}`)
}

/** Cases for the plugin, by name, each in a conversation of its own. @throws Error when it fails */
export const cases: Record<string, (scene: Scene) => Promise<void>> = {
  async 'startHitl begins a handover with the history'(scene) {
    await scene.say('Hello')
    await scene.hear('text', { text: 'Bot: text' })
    const handover = await begin(scene, { title: 'My order', description: 'It is late' })
    const { title, description, requestedBy } = handover
    assertEqual(
      { title, description, requestedBy },
      { title: 'My order', description: 'It is late', requestedBy: 'integration' },
    )
    const read = (await scene.transcript(handover)).map(
      ({ author, payload }) => `${author}: ${String(payload['text'])}`,
    )
    assertEqual([read[0], read[1], read.at(-1)], [`${scene.name}: Hello`, 'bot: Bot: text', `bot: ${texts.handedOver}`])
  },
  ...Object.fromEntries(
    Object.entries(relayed).map(([type, payload]) => [
      `${type}, from the member to the user`,
      async (scene: Scene) => {
        const handover = await begin(scene)
        await take(scene, handover)
        await reply(scene, handover, { type, payload })
        await scene.hear(type, toChat(type, payload))
      },
    ]),
  ),
  ...Object.fromEntries(
    Object.entries(relayed).map(([type, payload]) => [
      `${type}, from the user to the member`,
      async (scene: Scene) => {
        const handover = await begin(scene)
        await take(scene, handover)
        await scene.send({ type, ...toChat(type, payload) })
        await scene.sees(handover, { author: scene.name, type, payload: toChat(type, payload) })
      },
    ]),
  ),
  async 'a type that the plugin does not copy is refused with a text'(scene) {
    await begin(scene)
    await scene.send({ type: 'location', latitude: 1, longitude: 2 })
    await scene.hear('text', {
      text: 'Sorry, I can only handle one of the following message types: text, image, video, audio, file, bloc',
    })
  },
  async 'the bot does not answer during a session'(scene) {
    const handover = await begin(scene)
    await take(scene, handover)
    await scene.say('Are you a bot?')
    await scene.sees(handover, { author: scene.name, ...text('Are you a bot?') })
    await reply(scene, handover, text('No'))
    await scene.hear('text', { text: 'No' })
  },
  async 'a member ends the session: the workflow continues, and the bot answers again'(scene) {
    const handover = await begin(scene)
    await take(scene, handover)
    await scene.asMember('POST', `/handovers/${handover.id}/resolve`)
    await scene.hear('text', { text: texts.stopped })
    await scene.hear('text', { text: 'Bot: goes on' })
    await assertResumed(scene)
    const next = await begin(scene)
    await take(scene, next)
  },
  async 'the user ends the session with /end'(scene) {
    const handover = await begin(scene)
    await take(scene, handover)
    await scene.say('/end')
    await scene.hear('text', { text: texts.ended })
    await scene.hear('text', { text: 'Bot: goes on' })
    await scene.session('resolved')
    await scene.sees(handover, { author: 'bot', ...text(texts.cancelled) })
    await assertResumed(scene)
  },
  async 'the bot ends the session with stopHitl'(scene) {
    const handover = await begin(scene)
    await take(scene, handover)
    const { conversation } = await scene.user.createConversation({})
    await scene.user.createMessage({
      conversationId: conversation.id,
      payload: { type: 'text', text: `/stop ${scene.conversationId}` },
    })
    await scene.session('resolved')
    await scene.sees(handover, { author: 'bot', ...text(texts.cancelled) })
    await assertResumed(scene)
  },
  async 'no member comes within agentAssignedTimeoutSeconds'(scene) {
    const handover = await begin(scene, { configurationOverrides: { agentAssignedTimeoutSeconds: 1 } })
    await scene.hear('text', { text: texts.nobody })
    await scene.session('resolved')
    await scene.sees(handover, { author: 'bot', ...text(texts.cancelled) })
    await scene.hear('text', { text: 'Bot: goes on' })
    await assertResumed(scene)
  },
  async 'the deletion of the user reaches the user of the inbox'(scene) {
    const handover = await begin(scene)
    await take(scene, handover)
    await scene.user.deleteUser({})
    await scene.forgotten(handover)
  },
  async 'in the web chat, the member answers with the own name'(scene) {
    await using visitor = await openVisitor(scene.webchatUrl)
    await visitor.ask('PUT', '/users/me', { name: scene.name })
    await visitor.say('/start {}')
    const handover = await scene.session('pending')
    await visitor.heard(texts.handedOver)
    await takeOver(scene, handover)
    await visitor.heard(texts.assigned)
    await reply(scene, handover, text('How can I help?'))
    const { userId } = await visitor.heard('How can I help?')
    const { member } = await scene.session('assigned')
    const names = (await visitor.participants()).flatMap(({ id, name }) => (id === userId ? [name] : []))
    assertEqual(names, [member?.name])
  },
  async 'the session ends by itself after hitlSession.expiresInSeconds'(scene) {
    await begin(scene, { hitlSession: { expiresInSeconds: 1 } })
    await scene.session('expired')
    await scene.hear('text', { text: texts.stopped })
    await scene.hear('text', { text: 'Bot: goes on' })
    await assertResumed(scene)
  },
  async 'both times end a session after a restart of the platform'(scene) {
    const assigning = { configurationOverrides: { agentAssignedTimeoutSeconds: 3 } }
    const expiring = { hitlSession: { expiresInSeconds: 6 } }
    for (const [input, ...heard] of [
      [assigning, texts.nobody],
      [expiring, texts.stopped],
    ] as const) {
      await begin(scene, input)
      await scene.restart()
      for (const text of [...heard, 'Bot: goes on']) await scene.hear('text', { text })
    }
    await assertResumed(scene)
  },
}

/** A payload as the chat writes it: items of a bloc are flat there. */
function toChat(type: string, payload: Record<string, unknown>): Record<string, unknown> {
  if (type !== 'bloc') return payload
  const items = payload['items'] as { type: string; payload: object }[]
  return { items: items.map((item) => ({ type: item.type, ...item.payload })) }
}
