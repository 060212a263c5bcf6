import { keepAccessible } from './accessibility.js'
import { resolvePart } from './resolve.js'

const dark = matchMedia('(prefers-color-scheme: dark)')
const followTheme = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
dark.addEventListener('change', followTheme)
followTheme()

const response = await fetch('/openapi.json')
const api = await response.json()

// The page lists an operation under each of its tags; only the first one, its interface, is kept.
const interfaces = new Set()
for (const operation of Object.values(api.paths).flatMap((item) => Object.values(item))) {
  operation.tags = operation.tags.slice(0, 1)
  interfaces.add(operation.tags[0])
}
api.tags = api.tags.filter(({ name }) => interfaces.has(name))

/** Replaces parts of the renderer's page, and opens one interface at a time. */
const replacements = ({ React: { createElement } }) => ({
  fn: {
    // The renderer's own resolver reads the whole document anew for each operation, for seconds.
    resolveSubtree: async (document, path) => ({ spec: resolvePart(document, path), errors: [] }),
  },
  wrapComponents: {
    // The keyboard cannot reach a link within the button that opens an operation.
    DeepLink: () => (props) => createElement('span', null, props.text),
    // The only server is the page's own, so there is no choice to offer.
    ServersContainer: () => () => null,
  },
  statePlugins: {
    layout: {
      wrapActions: {
        // From 150 rows on, the renderer draws only those in view, and the browser's search finds no others.
        show:
          (show, { layoutActions }) =>
          (thing, isShown) => {
            const [kind, name] = [thing].flat()
            if (kind === 'operations-tag' && isShown) {
              for (const other of interfaces) if (other !== name) layoutActions.show([kind, other], false)
            }
            return show(thing, isShown)
          },
      },
    },
  },
})

const page = globalThis.SwaggerUIBundle({
  domNode: document.querySelector('#api'),
  // Requests go to the page's own server: its content security policy allows no other.
  spec: { ...api, servers: [{ url: location.origin }] },
  deepLinking: true,
  docExpansion: 'none',
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  filter: true,
  tryItOutEnabled: true,
  validatorUrl: null,
  plugins: [replacements],
  onComplete() {
    const { layoutActions } = page.getSystem()
    if (!location.hash) layoutActions.show(['operations-tag', api.tags[0].name], true)
  },
})

keepAccessible(document.querySelector('#api'))
