import type { JSX } from 'preact'
import { ModelsView } from '../models/models-view.tsx'
import { Page } from './page.tsx'

/** The use of language models by the bots of the workspace, and its budget. */
export function ModelsPage(): JSX.Element {
  return (
    <Page title="Models" about="Usage of language models by the bots of this workspace">
      <ModelsView />
    </Page>
  )
}
