/** Whether an action has a name of the public interface of language models, with the alias of an integration. */
export function isLanguageModelAction(type: string): boolean {
  return /:(?:generateContent|listLanguageModels)$/.test(type)
}
