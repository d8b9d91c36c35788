// Plain English in documents; eslint.config.js holds comments, texts and names in the code to the same words.
const words = require('./scripts/english/words.cjs');

module.exports = {
  rules: {
    'sentence-length': { max: 220 },
    terminology: { defaultTerms: false, terms: words },
  },
};
