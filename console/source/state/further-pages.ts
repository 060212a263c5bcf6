import { useState } from 'preact/hooks'
import { explain } from '../api/ask.ts'
import { notify } from './notices.ts'

export interface FurtherPages<Page> {
  pages: Page[]
  isBusy: boolean
  load(nextToken: string): Promise<void>
}

/**
 * The pages after the first one of a list, which are loaded once, on demand.
 *
 * @param key identifies the list; another key starts again without further pages
 */
export function useFurtherPages<Page>(key: string, load: (nextToken: string) => Promise<Page>): FurtherPages<Page> {
  const [state, setState] = useState<{ key: string; pages: Page[] }>({ key, pages: [] })
  const [isBusy, setIsBusy] = useState(false)
  const pages = state.key === key ? state.pages : []
  return {
    pages,
    isBusy,
    async load(nextToken) {
      setIsBusy(true)
      try {
        const page = await load(nextToken)
        setState({ key, pages: [...pages, page] })
      } catch (error) {
        notify('bad', explain(error))
      } finally {
        setIsBusy(false)
      }
    },
  }
}
