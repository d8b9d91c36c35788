// Plain English in documents; eslint.config.js has the same words for comments and names in code.
const words = require('./scripts/english/words.cjs');

module.exports = {
  rules: {
    'sentence-length': { max: 220 },
    terminology: { defaultTerms: false, terms: words },
  },
};
