/** The payload variants as chat clients write and read them. */

const actions = [
  { action: 'postback', label: 'Buy', value: 'buy' },
  { action: 'url', label: 'Read', value: 'https://more' },
  { action: 'say', label: 'Say', value: 'hello' },
]
export const card = { type: 'card', title: 'Shoe', subtitle: 'Red', imageUrl: 'https://shoe', actions }
const options = [
  { label: 'Yes', value: 'yes' },
  { label: 'No', value: 'no' },
]
const place = { type: 'location', latitude: 45.5, longitude: -73.6, address: '1 Main Street', title: 'Office' }

/** The items that a bloc may have. */
export const flat = [
  { type: 'text', text: 'hello' },
  { type: 'markdown', markdown: '**hello**' },
  { type: 'image', imageUrl: 'https://image' },
  { type: 'audio', audioUrl: 'https://audio' },
  { type: 'video', videoUrl: 'no URL, and nobody minds' },
  { type: 'file', fileUrl: 'https://file', title: 'Report' },
  place,
]

/** Everything that may be said. */
export const valid: ({ type: string } & Record<string, unknown>)[] = [
  ...flat,
  { type: 'file', fileUrl: 'https://file' },
  { type: 'location', latitude: 0, longitude: 0 },
  { ...place, address: '', title: '' },
  card,
  { type: 'card', title: 'Shoe', actions: [] },
  { type: 'carousel', items: [card, { type: 'card', title: 'Boot', actions: [] }] },
  { type: 'carousel', items: [] },
  { type: 'choice', text: 'Well?', options },
  { type: 'choice', text: 'Well?', options: [] },
  { type: 'dropdown', text: 'Well?', options },
  { type: 'dropdown', text: 'Well?', options: [] },
  { type: 'bloc', items: flat },
  { type: 'bloc', items: [] },
]

/** Payloads that are refused, with a part of the refusal's message. */
export const invalid: [payload: unknown, where: string][] = [
  [null, 'payload'],
  ['text', 'payload'],
  [[], 'payload'],
  [{}, 'payload'],
  [{ text: 'hello' }, 'payload'],
  [{ type: 'poem', text: 'hello' }, 'is not one of text'],
  [{ type: 'text' }, 'text'],
  [{ type: 'text', text: '' }, 'payload.text'],
  [{ type: 'text', text: 1 }, 'payload.text'],
  [{ type: 'text', text: 'Yes', value: 1 }, 'payload.value'],
  [{ type: 'markdown', markdown: '' }, 'payload.markdown'],
  [{ type: 'image', imageUrl: '' }, 'payload.imageUrl'],
  [{ type: 'image', url: 'https://image' }, 'imageUrl'],
  [{ type: 'audio', audioUrl: '' }, 'payload.audioUrl'],
  [{ type: 'video', videoUrl: '' }, 'payload.videoUrl'],
  [{ type: 'file', fileUrl: '' }, 'payload.fileUrl'],
  [{ type: 'file', fileUrl: 'https://file', title: '' }, 'payload.title'],
  [{ type: 'file', fileUrl: 'https://file', title: null }, 'payload.title'],
  [{ ...place, latitude: '45.5' }, 'payload.latitude'],
  [{ ...place, longitude: undefined }, 'longitude'],
  [{ ...place, address: null }, 'payload.address'],
  [{ ...card, title: '' }, 'payload.title'],
  [{ ...card, subtitle: '' }, 'payload.subtitle'],
  [{ ...card, subtitle: null }, 'payload.subtitle'],
  [{ ...card, imageUrl: '' }, 'payload.imageUrl'],
  [{ ...card, actions: undefined }, 'actions'],
  [{ ...card, actions: [{ ...actions[0], action: 'call' }] }, 'payload.actions.0.action'],
  [{ ...card, actions: [{ ...actions[0], label: '' }] }, 'payload.actions.0.label'],
  [{ ...card, actions: [{ action: 'say', label: 'Say' }] }, 'value'],
  [{ type: 'carousel' }, 'items'],
  [{ type: 'carousel', items: [{ title: 'Shoe', actions: [] }] }, 'type'],
  [{ type: 'carousel', items: [{ type: 'text', text: 'hello' }] }, 'payload.items.0'],
  [{ type: 'choice', text: '', options }, 'payload.text'],
  [{ type: 'choice', text: 'Well?' }, 'options'],
  [{ type: 'choice', text: 'Well?', options: [{ label: 'Yes', value: '' }] }, 'payload.options.0.value'],
  [{ type: 'dropdown', text: 'Well?', options: [{ value: 'yes' }] }, 'label'],
  [{ type: 'bloc' }, 'items'],
  [{ type: 'bloc', items: [{ type: 'text', text: '' }] }, 'payload.items.0.text'],
  [{ type: 'bloc', items: [card] }, 'payload.items.0'],
  [{ type: 'bloc', items: [{ type: 'choice', text: 'Well?', options }] }, 'payload.items.0'],
  [{ type: 'bloc', items: [{ type: 'bloc', items: [] }] }, 'payload.items.0'],
]
