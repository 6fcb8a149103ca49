-- Shows the congestion fields in Pathweave's captures by name: docs/results.md, "Congestion fields".
--
--     tshark -X lua_script:pathweave.lua -O pathweave -r packets-first.pcapng
--
-- Needs Wireshark 3.6 or later. The same bits mean different things under different schemes. Captures say in the
-- description of their interface which ones they have: "congestion fields: xcp".

local pathweave = Proto("pathweave", "Pathweave congestion fields")

local LOADS = { [1] = "low, below 80 %", [2] = "high, from 80 to 100 %", [3] = "overload" }

local shown = {
    scheme = ProtoField.string("pathweave.scheme", "Fields"),
    marks = ProtoField.uint8("pathweave.marks", "Marks echoed"),
    xcp_window = ProtoField.float("pathweave.xcp.window", "Window (bytes)"),
    xcp_rtt = ProtoField.float("pathweave.xcp.rtt", "RTT (seconds)"),
    xcp_change = ProtoField.float("pathweave.xcp.change", "Change of the window (bytes)"),
    rcp_rate = ProtoField.float("pathweave.rcp.rate", "Rate (bit/s)"),
    rcp_rtt = ProtoField.float("pathweave.rcp.rtt", "RTT (seconds)"),
    vcp_load = ProtoField.uint8("pathweave.vcp.load", "Load", base.DEC, LOADS),
    mlcp_load = ProtoField.uint8("pathweave.mlcp.load", "Load level", base.DEC, nil, 0x78),
    mlcp_rtt = ProtoField.uint8("pathweave.mlcp.rtt", "RTT class", base.DEC, nil, 0x07),
    decn_bits = ProtoField.uint8("pathweave.decn.bits", "Four bits", base.HEX),
    decn_packet = ProtoField.uint8("pathweave.decn.packet", "Packet of its unit"),
    decn_difference = ProtoField.int16("pathweave.decn.difference", "Difference of rates (units)"),
}
pathweave.fields = shown

local description = Field.new("frame.interface_description")
local ecn = Field.new("ip.dsfield.ecn")
local source = Field.new("tcp.srcport")
local stream = Field.new("tcp.stream")
local sequence = Field.new("tcp.seq_raw")
local acknowledged = Field.new("tcp.ack_raw")
local carried = Field.new("tcp.len")
local flags = Field.new("tcp.flags")
local options = Field.new("tcp.options")

local DESTINATION_PORT = 5001
local CWR, ECE, SYN = 0x80, 0x40, 0x02

-- The content of the experimental option with this identifier.
local function option(identifier)
    local all = options()
    if not all then
        return nil
    end
    local range, at = all.range, 0
    while at + 2 <= range:len() do
        local kind, length = range(at, 1):uint(), range(at + 1, 1):uint()
        if kind == 0 then
            return nil
        elseif kind == 1 then
            length = 1
        elseif length < 2 or at + length > range:len() then
            return nil
        elseif kind == 254 and length > 4 and range(at + 2, 2):string() == identifier then
            return range(at + 4, length - 4)
        end
        at = at + length
    end
end

-- DECN: what is known of each direction of each stream, and what was found for each frame.
local directions, found = {}, {}

function pathweave.init()
    directions, found = {}, {}
end

-- Three packets in a row are a unit, and the first has ECN = 01. New data follow one another. Acknowledgements all
-- advance; while a packet is missing before the unit, they all repeat its number. Then nothing shows that a packet of the
-- unit itself was lost, and what follows is taken for it.
local function place_in_unit(is_echo, bits)
    local key = stream().value .. (is_echo and " back" or " forth")
    local last = directions[key] or { number = -1, packet = 0 }
    local number = is_echo and acknowledged().value or sequence().value
    local way = true
    local next_number = number
    if is_echo then
        way = number ~= last.number
    else
        next_number = (number + carried().value) % 0x100000000
    end
    local now = { number = next_number, packet = 0, way = way, code = 0 }
    if ecn().value == 1 then
        now.packet, now.code = 1, bits
    elseif last.packet == 1 or last.packet == 2 then
        local follows = is_echo and way == last.way or not is_echo and number == last.number
        if follows then
            now.packet, now.code = last.packet + 1, last.code * 16 + bits
        end
    end
    directions[key] = now
    return now
end

local show = {}

function show.marks(tree, is_echo)
    if is_echo then
        local value = flags().value
        local marks = math.floor(value / ECE) % 2 + 2 * (math.floor(value / CWR) % 2)
        tree:add(shown.marks, flags().range, marks)
    end
end

function show.xcp(tree)
    local content = option("PX")
    if content and content:len() == 12 then
        tree:add(shown.xcp_window, content(0, 4))
        tree:add(shown.xcp_rtt, content(4, 4))
        tree:add(shown.xcp_change, content(8, 4))
    elseif content and content:len() == 4 then
        tree:add(shown.xcp_change, content)
    end
end

function show.rcp(tree)
    local content = option("PR")
    if content and content:len() >= 4 then
        tree:add(shown.rcp_rate, content(0, 4))
    end
    if content and content:len() == 8 then
        tree:add(shown.rcp_rtt, content(4, 4))
    end
end

function show.vcp(tree)
    tree:add(shown.vcp_load, ecn().range, ecn().value)
end

function show.mlcp(tree)
    local content = option("PM")
    if content then
        tree:add(shown.mlcp_load, content(0, 1))
        tree:add(shown.mlcp_rtt, content(0, 1))
    end
end

function show.decn(tree, is_echo, pinfo)
    local bits = math.floor(flags().value / 0x100)
    if not pinfo.visited then
        found[pinfo.number] = place_in_unit(is_echo, bits)
    end
    local place = found[pinfo.number]
    tree:add(shown.decn_bits, flags().range, bits)
    if place and place.packet > 0 then
        tree:add(shown.decn_packet, place.packet):set_generated()
    end
    -- 2048 stands for no difference. Nobody writes zero.
    if place and place.packet == 3 and place.code > 0 then
        tree:add(shown.decn_difference, place.code - 2048):set_generated()
    end
end

function pathweave.dissector(buffer, pinfo, tree)
    local text = description()
    local scheme = text and tostring(text.value):match("^congestion fields: (%w+)$")
    if not scheme or not show[scheme] or not flags() or not ecn() then
        return
    end
    if math.floor(flags().value / SYN) % 2 == 1 then
        return
    end
    local subtree = tree:add(pathweave)
    subtree:add(shown.scheme, scheme):set_generated()
    show[scheme](subtree, source().value == DESTINATION_PORT, pinfo)
end

register_postdissector(pathweave)
