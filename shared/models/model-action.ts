/** The actions of the public interfaces of models that transcribe and that make pictures. */
export const mediaActionNames = [
  'transcribeAudio',
  'listSpeechToTextModels',
  'generateImage',
  'listImageModels',
] as const
export type MediaAction = (typeof mediaActionNames)[number]

const names = ['generateContent', 'listLanguageModels', ...mediaActionNames]
const modelAction = new RegExp(`:(?:${names.join('|')})$`)

/** Whether an action has a name of a public interface of models, with the alias of an integration. */
export function isModelAction(type: string): boolean {
  return modelAction.test(type)
}
