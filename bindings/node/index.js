'use strict';

// The drop-in for @ronomon/direct-io 3.0.1: its ten exports and no more.

module.exports = require('./lib/load.js').load().dropIn;
