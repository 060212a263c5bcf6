/** Loads the pages of a list, one after another, until there is no further one. */
export async function allPages<Item>(
  load: (nextToken: string | undefined) => Promise<{ items: Item[]; nextToken: string | undefined }>,
): Promise<Item[]> {
  const found: Item[] = []
  let nextToken: string | undefined
  do {
    const page = await load(nextToken)
    found.push(...page.items)
    nextToken = page.nextToken
  } while (nextToken !== undefined)
  return found
}
