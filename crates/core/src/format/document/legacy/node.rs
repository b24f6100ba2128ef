//! Nodes for values that are written as prose instead of YAML.

use crate::text::span::Span;
use crate::text::yaml::{YamlNode, YamlStyle, YamlValue};

pub(super) fn text_node(text: String, at: Span) -> YamlNode {
    YamlNode { value: YamlValue::Text(text), at, style: YamlStyle::Plain, tagged: false }
}

pub(super) fn block_node(value: YamlValue, at: Span) -> YamlNode {
    YamlNode { value, at, style: YamlStyle::Block, tagged: false }
}
