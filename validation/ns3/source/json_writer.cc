#include "json_writer.h"

namespace validation
{

namespace
{

std::string
Quoted(const std::string& text)
{
    std::string quoted = "\"";
    for (const char character : text)
    {
        if (character == '"' || character == '\\')
        {
            quoted += '\\';
        }
        // Control characters have no place in the names that are written here.
        quoted += static_cast<unsigned char>(character) < ' ' ? ' ' : character;
    }
    return quoted + "\"";
}

} // namespace

JsonWriter::JsonWriter(std::ostream& output)
    : m_output(output)
{
    // Enough digits for any count and any rate in bit/s.
    m_output.precision(12);
}

void
JsonWriter::BeginValue(const std::string& key)
{
    if (!m_holdsValue.empty())
    {
        m_output << (m_holdsValue.back() ? ",\n" : "\n")
                 << std::string(2 * m_holdsValue.size(), ' ');
        m_holdsValue.back() = true;
    }
    if (!key.empty())
    {
        m_output << Quoted(key) << ": ";
    }
}

void
JsonWriter::Open(const std::string& key, char bracket)
{
    BeginValue(key);
    m_output << bracket;
    m_holdsValue.push_back(false);
}

void
JsonWriter::Close(char bracket)
{
    const bool heldValue = m_holdsValue.back();
    m_holdsValue.pop_back();
    if (heldValue)
    {
        m_output << '\n' << std::string(2 * m_holdsValue.size(), ' ');
    }
    m_output << bracket;
    if (m_holdsValue.empty())
    {
        m_output << '\n';
    }
}

void
JsonWriter::BeginObject(const std::string& key)
{
    Open(key, '{');
}

void
JsonWriter::EndObject()
{
    Close('}');
}

void
JsonWriter::BeginArray(const std::string& key)
{
    Open(key, '[');
}

void
JsonWriter::EndArray()
{
    Close(']');
}

void
JsonWriter::Text(const std::string& key, const std::string& value)
{
    BeginValue(key);
    m_output << Quoted(value);
}

void
JsonWriter::Number(const std::string& key, double value)
{
    BeginValue(key);
    m_output << value;
}

void
JsonWriter::Truth(const std::string& key, bool value)
{
    BeginValue(key);
    m_output << (value ? "true" : "false");
}

void
JsonWriter::Numbers(const std::string& key, const std::vector<double>& values)
{
    BeginValue(key);
    m_output << '[';
    for (size_t index = 0; index < values.size(); ++index)
    {
        m_output << (index == 0 ? "" : ",") << values[index];
    }
    m_output << ']';
}

} // namespace validation
