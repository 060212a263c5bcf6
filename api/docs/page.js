const dark = matchMedia('(prefers-color-scheme: dark)')
const followTheme = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
dark.addEventListener('change', followTheme)
followTheme()

const response = await fetch('/openapi.json')
const api = await response.json()

globalThis.SwaggerUIBundle({
  domNode: document.querySelector('#api'),
  // What is tried out goes where the page came from: the policy of the page allows no other address.
  spec: { ...api, servers: [{ url: location.origin }] },
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  filter: true,
  tryItOutEnabled: true,
  validatorUrl: null,
})
