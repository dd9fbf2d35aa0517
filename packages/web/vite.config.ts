import tailwind from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

export default defineConfig({
  plugins: [react(), tailwind()],
  worker: { format: 'es' },
  build: {
    outDir: '../runtime/dist/web',
    emptyOutDir: true,
    target: 'es2023',
    // Fonts and pictures stay files: the page's security policy allows no data: fonts.
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 900,
  },
})
